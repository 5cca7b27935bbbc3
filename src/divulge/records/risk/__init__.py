"""The risk of each record and each class: one registry of measures, one module per family."""
