"""The frozen values of an interval and the effects its protocol yields."""
