"""Programs that come with Divulge: the algorithms of risk and protection, and domain problems."""
