"""The settings of git before any agent worked: copied for sq's own commands, and compared afterwards."""
