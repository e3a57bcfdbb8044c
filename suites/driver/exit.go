package driver

import "fmt"

// Exit is how a client ended.
type Exit struct {
	Code   int    // exit code of a command; -1 where there is none: for a function, or when a signal ended the command
	Signal string // that ended a command, such as "killed"; "" if none did
	Err    error  // what a function returned, or why a command could not be run
	Alive  bool   // it could not be ended and may still send requests

	Untaken int // calls of a scenario's work that it ended without having taken

	// lost is what became of the process that made the client's call together with those of others, to follow its name, if it
	// was that which ended the call; else "".
	lost string
}

// String says how the client ended, to follow its name: "ended with exit code 6".
func (e Exit) String() string {
	switch {
	case e.Alive:
		return fmt.Sprintf("could not be ended: %v", e.Err)
	case e.Signal != "":
		return "was ended by signal: " + e.Signal
	case e.Err != nil:
		return fmt.Sprintf("ended with an error: %v", e.Err)
	case e.Code < 0:
		return "ended without an error"
	default:
		return fmt.Sprintf("ended with exit code %d", e.Code)
	}
}

// err is the exit as an error, nil if the client was content.
func (e Exit) err() error {
	if e.Err == nil && e.Signal == "" && e.Code <= 0 {
		return nil
	}
	return &ExitError{Exit: e}
}

// ExitError is what a command's Run returns unless its exit code is 0.
type ExitError struct{ Exit Exit }

func (e *ExitError) Error() string { return "the client " + e.Exit.String() }

// Unwrap returns what a function returned.
func (e *ExitError) Unwrap() error { return e.Exit.Err }
