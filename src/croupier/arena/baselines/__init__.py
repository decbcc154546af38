"""Baselines: functions of states, fixed before any hand is played, that remove luck from results without bias."""
