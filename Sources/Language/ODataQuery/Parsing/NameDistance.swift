/// Returns the names nearest to a misspelt one by edit distance, at most three, nearest first.
///
/// Names that differ in more than a third of their characters (but at least two) are not suggested.
///
/// - Parameter bound: the maximum distance; `nil` for the default.
func nearest(to name: String, among names: some Sequence<String>, within bound: Int? = nil) -> [String] {
    let wanted = Array(name.lowercased().unicodeScalars.prefix(QueryLimits.maxIdentifierLength))
    let bound = bound ?? max(2, wanted.count / 3)
    var found: [(distance: Int, name: String)] = []
    for candidate in names {
        let letters = Array(candidate.lowercased().unicodeScalars.prefix(QueryLimits.maxIdentifierLength))
        guard abs(letters.count - wanted.count) <= bound else { continue }
        let distance = editDistance(wanted, letters)
        if distance <= bound { found.append((distance, candidate)) }
    }
    // Among equally near names, those with the same first letter come first, since it is rarely mistyped.
    func rank(_ item: (distance: Int, name: String)) -> (Int, Int, String) {
        (item.distance, item.name.lowercased().unicodeScalars.first == wanted.first ? 0 : 1, item.name)
    }
    return found.sorted { rank($0) < rank($1) }.prefix(3).map(\.name)
}

/// Returns the number of insertions, deletions, replacements and transpositions between two words.
private func editDistance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
    var beforePrevious: [Int] = []
    var previous = Array(0...right.count)
    for (i, a) in left.enumerated() {
        var row = [i + 1]
        for (j, b) in right.enumerated() {
            var best = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (a == b ? 0 : 1))
            if i > 0, j > 0, a == right[j - 1], left[i - 1] == b { best = min(best, beforePrevious[j - 1] + 1) }
            row.append(best)
        }
        beforePrevious = previous
        previous = row
    }
    return previous[right.count]
}
