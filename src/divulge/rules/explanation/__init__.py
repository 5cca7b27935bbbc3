"""Why a fact holds, or why it does not: the tree of rules, in words."""
