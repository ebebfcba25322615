/// A row of an entity set or containment path, by its internal id.
struct RowReference: Codable, Hashable, Sendable {
    let set: String
    var rowID: Int64

    /// The names in the queue's JSON.
    private enum CodingKeys: String, CodingKey {
        case set
        case rowID = "row"
    }
}
