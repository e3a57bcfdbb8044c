package fault

import (
	"strings"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/faultserver/strict"
)

// UnmarshalNode reads a fault from a plan.
func (s *Spec) UnmarshalNode(n strict.Node) {
	list := []strict.Node{n}
	if n.Kind() == strict.Seq {
		list = n.Seq()
		if len(list) == 0 {
			n.Fail("the list of faults is empty; write pass to leave the exchange alone")
			return
		}
	}
	var names []string
	var faults []Fault
	var before []Kind
	for _, item := range list {
		if item.Kind() == strict.Text && item.String() == pass {
			if len(list) > 1 {
				item.Fail("pass cannot stand in a list of faults: the others would act all the same")
				return
			}
			*s = Pass()
			return
		}
		kind, f := one(item)
		if f == nil {
			continue
		}
		if len(list) > 1 && onConnections(f) {
			item.Fail("%s acts on connections and cannot stand in a list of faults; give it a rule of its own", kind.Name)
			return
		}
		kind.follow(before, item)
		before, names, faults = append(before, kind), append(names, kind.Name), append(faults, f)
	}
	if len(faults) > 0 {
		*s = Spec{strings.Join(names, "+"), Chain(faults...)}
	}
}

// follow complains if the kind cannot act, or keeps others from it, behind those before it in a list.
func (k Kind) follow(before []Kind, at strict.Node) {
	for _, b := range before {
		switch {
		case b.Role == Final:
			at.Fail("%s cannot act here: %s before it settles the exchange; %s", k.Name, b.Name, Instead)
		case k.Role == ByHand && (b.Role == Shaping || b.Role == ByHand):
			at.Fail("%s sends the answer by itself, so that %s before it could not act; put it first, or leave one out", k.Name, b.Name)
		}
	}
}

// one reads a single fault, nil after an error.
func one(n strict.Node) (Kind, Fault) {
	switch n.Kind() {
	case strict.Number:
		f := &Status{}
		n.Decode(&f.Code)
		if n.Failed() {
			return Kind{}, nil
		}
		strict.Between(n, "code", f.Code, minStatus, maxStatus)
		kind, _ := Kinds.Get("status")
		return kind, f
	case strict.Text:
		kind, err := Kinds.Get(n.String())
		if err != nil {
			n.Fail("unknown fault %q%s", n.String(), registry.Suggest(n.String(), append(Kinds.Names(), pass)))
			return Kind{}, nil
		}
		return kind, kind.New()
	case strict.Map:
		return settings(n)
	}
	n.Fail("found %s; want a fault such as {status: {code: 503}}, 503 or pass", n.Kind())
	return Kind{}, nil
}

func settings(n strict.Node) (Kind, Fault) {
	pairs := n.Map()
	if len(pairs) != 1 {
		n.Fail("%d faults in one mapping; want one, or a list of faults that apply in order: [{latency: ...}, {status: ...}]", len(pairs))
		return Kind{}, nil
	}
	key, value := pairs[0].Key, pairs[0].Value
	kind, err := Kinds.Get(key.String())
	if err != nil {
		key.Fail("%v", err)
		return Kind{}, nil
	}
	if value.Kind() == strict.Null {
		value.Fail("%s has no settings; write {%s: {}} or just %s for the defaults", kind.Name, kind.Name, kind.Name)
		return Kind{}, nil
	}
	f := kind.New()
	value.Decode(f)
	return kind, f
}
