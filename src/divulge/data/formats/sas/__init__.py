"""The transport format of SAS: our own reader and writer, which keep tagged missing values."""
