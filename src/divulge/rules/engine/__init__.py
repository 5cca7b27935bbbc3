"""The evaluation of programs: rules as queries of a database, round by round."""
