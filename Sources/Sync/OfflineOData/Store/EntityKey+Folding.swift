import ODataModel

extension EntityKey {
    /// Whether two keys differ only in a way that services ignore: in the case of letters, or in trailing blanks.
    func isFolded(_ other: EntityKey) -> Bool {
        guard parts.count == other.parts.count else { return false }
        return zip(parts, other.parts).allSatisfy { left, right in
            guard case .string(let one) = left.value, case .string(let two) = right.value else {
                return left == right
            }
            return one.folded == two.folded
        }
    }
}

extension String {
    /// The text in lower case, without trailing blanks.
    fileprivate var folded: String {
        var text = lowercased()[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
