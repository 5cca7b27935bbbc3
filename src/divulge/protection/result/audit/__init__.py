"""The audit by who knows the method: values that would not have been hidden or made coarser."""
