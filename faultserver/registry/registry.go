// Package registry keeps the named things of one kind: fault kinds, schedules, clauses, scenarios, formats.
// Each is registered from its own file, so that adding one touches no other.
package registry

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Registry maps names to values of one kind. Fill it from package initialisation; it is read-only afterwards.
type Registry[T any] struct {
	what  string
	items map[string]T
}

// New makes an empty registry; what names one item in error messages ("fault kind").
func New[T any](what string) *Registry[T] {
	return &Registry[T]{what: what, items: map[string]T{}}
}

// Add registers v. It panics on an empty or duplicate name: both are programming errors and must show at start.
func (r *Registry[T]) Add(name string, v T) {
	if name == "" {
		panic("registry: " + r.what + " without a name")
	}
	if _, ok := r.items[name]; ok {
		panic("registry: " + r.what + " " + name + " is registered twice")
	}
	r.items[name] = v
}

// Get returns the item called name, or an error that lists the nearest names.
func (r *Registry[T]) Get(name string) (T, error) {
	if v, ok := r.items[name]; ok {
		return v, nil
	}
	var none T
	return none, fmt.Errorf("unknown %s %q%s", r.what, name, Suggest(name, r.Names()))
}

// Has reports whether name is registered.
func (r *Registry[T]) Has(name string) bool { _, ok := r.items[name]; return ok }

// Names returns all names, sorted.
func (r *Registry[T]) Names() []string {
	names := make([]string, 0, len(r.items))
	for n := range r.items {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// All returns the items in the order of their names.
func (r *Registry[T]) All() []T {
	all := make([]T, 0, len(r.items))
	for _, n := range r.Names() {
		all = append(all, r.items[n])
	}
	return all
}

// Suggest ends an error message about an unknown name: "; did you mean X?" when one is near, else "; known: ...".
func Suggest(name string, known []string) string {
	near := Nearest(name, known)
	switch {
	case len(near) > 0:
		return "; did you mean " + strings.Join(near, " or ") + "?"
	case len(known) == 0:
		return ""
	default:
		return "; known: " + strings.Join(known, ", ")
	}
}

// Nearest returns the up to three known names that are closest to name, none if all are far from it.
func Nearest(name string, known []string) []string {
	type scored struct {
		name string
		d    int
	}
	var near []scored
	for _, k := range known {
		d := distance(strings.ToLower(name), strings.ToLower(k))
		if d <= max(1, min(len(name), len(k))/3) || (len(name) >= 3 && strings.HasPrefix(k, name)) {
			near = append(near, scored{k, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	names := make([]string, 0, 3)
	for _, s := range near[:min(3, len(near))] {
		names = append(names, s.name)
	}
	return names
}

// distance is the optimal string alignment distance, where a transposition of neighbours costs one.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
