import ODataModel

/// Takes the elements of a collection as they come: entities as row cursors, whatever else there is as values.
///
/// This is the way from a response into typed structs or a database without an ``/ODataModel/Entity`` between.
public protocol CollectionSink {
    /// Takes an entity that has only properties of the declared type: no related entities, no dynamic properties,
    /// and its type is the declared one. Ids, ETags and annotations are among the row's members.
    ///
    /// - Parameter row: valid during the call.
    mutating func row(_ row: borrowing JSONRow) throws
    /// Notes that the memory of the rows so far is about to go: whoever kept places in it looks at them for the last time.
    ///
    /// It comes before the element that follows the rows, and where their bytes end for now; not after the sink has thrown.
    mutating func endOfRows() throws
    /// Takes every other element: entities of derived types or with more than properties, removed entities, links
    /// and, last, the end of the collection.
    mutating func element(_ element: CollectionPayloadReader.Element) throws
}

extension CollectionSink {
    /// Does nothing: the rows were taken as they came.
    public mutating func endOfRows() throws {}
}

extension CollectionPayloadReader {
    /// Gives a sink every element whose bytes have arrived.
    ///
    /// ```swift
    /// for try await chunk in body {
    ///     reader.append(chunk)
    ///     try reader.read(into: &sink)
    /// }
    /// reader.finish()
    /// try reader.read(into: &sink)
    /// ```
    /// - Throws: ``PayloadError`` with the place, and what the sink throws.
    @inlinable
    public mutating func read<Sink: CollectionSink>(into sink: inout Sink) throws {
        let row = makeRow()
        while true {
            if let row, isReadyForRows() {
                let pass = try chunks.bytes.withUnsafeBufferPointer { bytes in
                    defer { row.forget() }
                    var pass = makePass(bytes)
                    while pass.next(row) { try sink.row(row) }
                    try sink.endOfRows()
                    return pass
                }
                guard try finishPass(pass) else { continue }
            }
            let wasAmongElements = isAmongElements
            if let element = try next(stoppingAtElements: row != nil) {
                try sink.element(element)
            } else if wasAmongElements || !isAmongElements {
                return
            }
        }
    }
}

/// Walks over the elements of a collection as long as they are plain rows.
@usableFromInline
struct RowPass {
    /// Why a pass ended.
    @usableFromInline
    enum End: Sendable {
        /// The buffer ends within an element.
        case cut
        /// The next element is no plain row, or the array ends.
        case other
        /// The text cannot be read.
        case failed(JSONError)
    }

    /// Stands behind the last row that was given.
    private(set) var scanner: JSONScanner
    private(set) var end: End?
    private let isStrict: Bool

    init(_ scanner: JSONScanner, isStrict: Bool) {
        self.scanner = scanner
        self.isStrict = isStrict
    }

    /// Reads the next element into `row`; `false` at the end of the pass.
    @usableFromInline
    mutating func next(_ row: JSONRow) -> Bool {
        var ahead = scanner
        do throws(JSONError) {
            guard try ahead.nextElement(), try ahead.peekKind() == .object else { return stop(.other) }
            try row.read(&ahead)
        } catch {
            return stop(error.needsMoreData ? .cut : .failed(error))
        }
        guard row.members.isEmpty || row.members.allSatisfy({ isPlain($0, row) }) else { return stop(.other) }
        scanner = ahead
        return true
    }

    private mutating func stop(_ end: End) -> Bool {
        self.end = end
        return false
    }

    /// Whether a member beside the properties may be left to the sink.
    private func isPlain(_ member: JSONRow.Member, _ row: JSONRow) -> Bool {
        // What nearly every row has.
        if member.name == "@odata.etag" || member.name == "@etag" { return true }
        guard let control = ControlName(member.name) else {
            // What a closed type does not declare is left out, unless that is a mistake here.
            let name = member.name.string
            return !isStrict && !row.shape.isOpen && row.shape.navigationProperty(name) == nil && name != "error"
        }
        switch control.kind {
        case .type:
            guard control.property.isEmpty else { return row.shape.ordinal(of: control.property) != nil }
            return (try? row.text(of: "@odata.type", or: "@type")) == "#\(row.shape.name)"
        case .context, .removed, .delta, .bind, .count, .nextLink: return false
        default: return true
        }
    }
}
