/// The member names of one object seen so far, for callers that must refuse a name that comes twice
/// (OData JSON Format 4.01, 4: names within an object are unique).
public struct JSONMemberSet {
    // A short list is searched faster than it is hashed.
    private static let listLimit = 12
    private var list: [String] = []
    private var set: Set<String> = []

    /// Makes an empty set.
    public init() {}

    /// Adds a name.
    ///
    /// - Throws: ``JSONError/Reason/duplicateMember(_:)`` with the place of the second one.
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
