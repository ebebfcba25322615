import ODataModel

/// The merging of JSON documents: members of objects are merged, everything else is replaced.
enum JSONMerge {
    /// Returns a document in which a later one wins.
    ///
    /// - Parameters:
    ///   - first: A JSON text.
    ///   - second: A JSON text.
    /// - Returns: The members of both if both are objects, in the order of their first appearance; else the second.
    static func merge(_ first: [UInt8], with second: [UInt8]) throws(JSONError) -> [UInt8] {
        guard let old = try members(first), let new = try members(second) else { return second }
        var order: [String] = []
        var values: [String: [UInt8]] = [:]
        for (name, value) in old + new {
            if let known = values[name] {
                values[name] = try merge(known, with: value)
            } else {
                order.append(name)
                values[name] = value
            }
        }
        return object(order.map { ($0, values[$0] ?? []) })
    }

    /// Returns an object with members.
    static func object(_ members: [(name: String, value: [UInt8])]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in members {
            writer.key(name)
            writer.raw(value)
        }
        writer.endObject()
        return writer.bytes
    }

    /// Checks that a text is one JSON value.
    static func check(_ json: [UInt8]) throws(JSONError) {
        try JSONScanner.scan(json) { scanner throws(JSONError) in
            try scanner.skipValue()
            try scanner.expectEnd()
        }
    }

    /// Returns the members of an object; `nil` for another value.
    private static func members(_ json: [UInt8]) throws(JSONError) -> [(name: String, value: [UInt8])]? {
        try JSONScanner.scan(json) { scanner throws(JSONError) -> [(name: String, value: [UInt8])]? in
            guard try scanner.peekKind() == .object else { return nil }
            var members: [(name: String, value: [UInt8])] = []
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                let name = key.string
                let range = try scanner.skipValue()
                members.append((name, scanner.rawBytes(range)))
            }
            return members
        }
    }
}
