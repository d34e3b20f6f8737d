"""What is known of media: the only code that looks into a source or starts ffmpeg."""
