package accesslog

import "strconv"

// agentHeader tells users behind one address apart, as far as their programs differ.
const agentHeader = "user-agent"

// crowd numbers the programs that were seen at each address: a proxy or a household has many users, and what one of them asks
// for is no repeat of what another did. The first keeps the address for its name.
type crowd struct {
	agents map[string]map[string]int // by name of the client, from 1
	size   int
}

// number is which of the client's programs this is, from 1; what is not known counts as the first.
func (c *crowd) number(client, agent []byte) int {
	if len(agent) == 0 || len(agent) == 1 && agent[0] == '-' {
		return 1
	}
	seen, known := c.agents[string(client)]
	if n, ok := seen[string(agent)]; ok {
		return n
	}
	if c.size >= mostNames {
		return 1
	}
	if !known {
		if c.agents == nil {
			c.agents = map[string]map[string]int{}
		}
		seen = map[string]int{}
		c.agents[string(client)] = seen
	}
	c.size++
	seen[string(agent)] = len(seen) + 1
	return len(seen)
}

// tell ends the client's name with the number of the program, unless it is the first.
func (c *crowd) tell(name, agent []byte) []byte {
	if n := c.number(name, agent); n > 1 {
		return strconv.AppendInt(append(name, " program "...), int64(n), 10)
	}
	return name
}
