/// A row of an entity set or containment path, by its internal id.
public struct RowReference: Codable, Hashable, Sendable {
    /// The entity set, or the path of containment such as `Albums/Pages`.
    public let set: String
    /// The id of the row within its table, which it keeps when its key changes.
    public internal(set) var rowID: Int64

    init(set: String, rowID: Int64) {
        self.set = set
        self.rowID = rowID
    }

    /// The names in the queue's JSON.
    private enum CodingKeys: String, CodingKey {
        case set
        case rowID = "row"
    }
}
