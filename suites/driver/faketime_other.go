//go:build !linux

package driver

import (
	"errors"

	"github.com/retrygate/retrygate/faultserver/clock"
)

const canFake = false

func newFake(string, clock.Clock, string) (*fake, error) {
	return nil, errors.New("the clock of a command cannot be made faster here")
}
