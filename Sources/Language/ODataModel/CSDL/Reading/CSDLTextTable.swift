/// Values for some of a document's texts. The values stand close together beside a table of numbers, which is made
/// and thrown away at no cost however many texts there are.
struct CSDLTextTable<Value> {
    /// The place of each text's value plus one; 0 where there is none.
    private var places: [Int32]
    private var values: [Value] = []

    /// Makes an empty table for the texts with numbers below `count`, with room for some values.
    init(count: Int, capacity: Int = 0) {
        places = Array(repeating: 0, count: count)
        values.reserveCapacity(capacity)
    }

    /// The value of a text; `nil` where it has none.
    subscript(text: CSDLDocument.Text) -> Value? {
        let place = Int(places[Int(text)])
        return place == 0 ? nil : values[place - 1]
    }

    /// Gives a value to a text that has none yet.
    mutating func insert(_ value: Value, for text: CSDLDocument.Text) {
        values.append(value)
        places[Int(text)] = Int32(values.count)
    }
}
