/// Values for some texts of a document. The values are stored contiguously beside a table of indices, which makes
/// creation and removal cheap for any number of texts.
struct CSDLTextTable<Value> {
    /// The index plus one of each text's value; 0 for none.
    private var places: [Int32]
    private var values: [Value] = []

    /// Creates an empty table for the texts with numbers below `count`, with capacity for some values.
    init(count: Int, capacity: Int = 0) {
        places = Array(repeating: 0, count: count)
        values.reserveCapacity(capacity)
    }

    /// The value of a text; `nil` if it has none.
    subscript(text: CSDLDocument.Text) -> Value? {
        let place = Int(places[Int(text)])
        return place == 0 ? nil : values[place - 1]
    }

    /// Adds the value of a text that has none.
    mutating func insert(_ value: Value, for text: CSDLDocument.Text) {
        values.append(value)
        places[Int(text)] = Int32(values.count)
    }
}
