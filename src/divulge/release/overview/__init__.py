"""The first page of a report: the gravest findings, who bears the risk, and what to do next."""
