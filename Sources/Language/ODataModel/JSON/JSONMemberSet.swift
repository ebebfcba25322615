/// The member names of one object seen so far, used to reject duplicate names (OData JSON Format 4.01, 4: names
/// within an object are unique).
public struct JSONMemberSet {
    // A linear search of a short list is faster than hashing.
    private static let listLimit = 12
    private var list: [String] = []
    private var set: Set<String> = []

    /// Creates an empty set.
    public init() {}

    /// Adds a name.
    ///
    /// - Throws: ``JSONError/Reason/duplicateMember(_:)`` with the position of the second occurrence.
    public mutating func insert(_ key: JSONString, in scanner: JSONScanner) throws(JSONError) {
        let name = key.string
        let isNew: Bool
        if list.count < Self.listLimit {
            isNew = !list.contains(name)
            if isNew { list.append(name) }
        } else {
            if set.isEmpty { set = Set(list) }
            isNew = set.insert(name).inserted
        }
        guard isNew else {
            throw scanner.error(.duplicateMember(name), at: key.offset, expected: "each member name once")
        }
    }
}
