package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// speed is the --speed flag; 0, its zero value, means that it was not given.
type speed int

// mostSpeed keeps the machine's own lateness below what can be told from waits.
const mostSpeed = 1000

func (s *speed) String() string {
	switch *s {
	case 0:
		return ""
	case contract.Auto:
		return "auto"
	}
	return strconv.Itoa(int(*s))
}

func (*speed) Type() string { return "N" }

func (s *speed) Set(text string) error {
	if text == "auto" {
		*s = contract.Auto
		return nil
	}
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > mostSpeed {
		return fmt.Errorf("must be auto or a whole number from 1 (real time) to %d", mostSpeed)
	}
	*s = speed(v)
	return nil
}

// possible says why a client cannot run at a speed that was asked for by number; auto makes do with what there is.
func (s speed) possible(upstream bool) error {
	switch {
	case s <= 1:
		return nil
	case upstream:
		return errors.New("verify: --speed and --upstream cannot stand together: the upstream lives in real time")
	}
	if _, err := driver.Faketime(); err != nil {
		return fmt.Errorf("verify: --speed %d: %w; --speed auto runs in real time without it", s, err)
	}
	return nil
}
