package fault

import (
	"fmt"
	"slices"

	"github.com/retrygate/retrygate/faultserver/registry"
)

// readWord reads one of the words that a setting takes; unknown begins the error about any other.
func readWord[W ~string](into *W, text []byte, unknown string, known []W) error {
	if !slices.Contains(known, W(text)) {
		return fmt.Errorf("%s %q%s", unknown, text, registry.Suggest(string(text), plain(known)))
	}
	*into = W(text)
	return nil
}

// wordSchema lists the words that a setting takes.
func wordSchema[W ~string](known []W) map[string]any { return map[string]any{"enum": plain(known)} }

func plain[W ~string](words []W) []string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return all
}
