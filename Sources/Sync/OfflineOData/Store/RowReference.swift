/// A row of an entity set, or of what its entities contain, by its internal id.
struct RowReference: Codable, Hashable, Sendable {
    let set: String
    var rowID: Int64

    /// As the queue keeps it.
    private enum CodingKeys: String, CodingKey {
        case set
        case rowID = "row"
    }
}
