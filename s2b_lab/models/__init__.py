"""What embeds and what answers: encoders, models behind servers and on this machine, recordings, prompts."""
