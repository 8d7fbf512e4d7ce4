//! Strongly connected components: tasks that wait for one another.

/// By node, the number of its component. Kosaraju's algorithm, without recursion.
pub(crate) fn of(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(edges.len());
    let mut seen = vec![false; edges.len()];
    for start in 0..edges.len() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            if let Some(&to) = edges[*node].get(*next) {
                *next += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            } else {
                order.push(*node);
                path.pop();
            }
        }
    }
    let mut back = vec![Vec::new(); edges.len()];
    for (from, all) in edges.iter().enumerate() {
        for &to in all {
            back[to].push(from);
        }
    }
    let mut component = vec![usize::MAX; edges.len()];
    for (number, &start) in order.iter().rev().enumerate() {
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            if component[node] == usize::MAX {
                component[node] = number;
                open.extend(back[node].iter().filter(|&&from| component[from] == usize::MAX));
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    #[test]
    fn circles_are_one_component() {
        // 0 → 1 → 2 → 0, 3 → 0, 4.
        let component = super::of(&[vec![1], vec![2], vec![0], vec![0], vec![]]);
        assert!(component[0] == component[1] && component[1] == component[2]);
        assert_ne!(component[3], component[0]);
        assert_ne!(component[4], component[0]);
        assert_ne!(component[4], component[3]);
    }
}
