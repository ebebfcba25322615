import ODataModel

extension EntityKey {
    /// Whether two keys differ only in how a service may write them: in the letters' case, or by blanks at the end.
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
    /// The text in small letters, without blanks at its end.
    fileprivate var folded: String {
        var text = lowercased()[...]
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}
