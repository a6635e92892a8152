"""Tables as people have them: wide, counted, told apart by names; and advice that was tried."""
