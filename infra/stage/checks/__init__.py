"""Problems of a stage: their form, and checks that concern several groups of settings."""
