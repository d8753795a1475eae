"""`sq doctor`: its checks of the machine, the repository, the settings and the hook."""
