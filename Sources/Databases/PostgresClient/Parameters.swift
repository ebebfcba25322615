import CPostgres

/// The values of a statement in the form that libpq takes.
struct Parameters {
    private let types: [Oid]
    private let bytes: [UInt8]
    /// The offset and the length of each value; `nil` for null.
    private let places: [(offset: Int, count: Int)?]

    init(_ values: [PostgresValue]) {
        types = values.map(\.type)
        var (bytes, places): ([UInt8], [(offset: Int, count: Int)?]) = ([], [])
        for value in values {
            guard let binary = value.binary else {
                places.append(nil)
                continue
            }
            places.append((bytes.count, binary.count))
            bytes += binary
        }
        // An empty value needs an address, too.
        self.bytes = bytes.isEmpty ? [0] : bytes
        self.places = places
    }

    /// The values with their addresses, which are valid within ``Parameters/use(_:)``.
    struct Bound {
        fileprivate let types: [Oid]
        fileprivate let values: [UnsafePointer<CChar>?]
        fileprivate let lengths: [Int32]
        fileprivate let formats: [Int32]

        func prepare(_ name: String, _ text: String, on connection: OpaquePointer) -> Bool {
            PQsendPrepare(connection, name, text, Int32(types.count), types) == 1
        }

        func sendPrepared(_ name: String, on connection: OpaquePointer) -> Bool {
            PQsendQueryPrepared(connection, name, Int32(values.count), values, lengths, formats, 1) == 1
        }

        func sendQuery(_ text: String, on connection: OpaquePointer) -> Bool {
            PQsendQueryParams(connection, text, Int32(values.count), types, values, lengths, formats, 1) == 1
        }
    }

    func use(_ body: (Bound) -> Bool) -> Bool {
        bytes.withUnsafeBytes { buffer in
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return body(
                Bound(
                    types: types,
                    values: places.map { place in place.flatMap { place in base.map { $0 + place.offset } } },
                    lengths: places.map { Int32(clamping: $0?.count ?? 0) }, formats: places.map { _ in 1 }))
        }
    }
}
