import ODataModel

/// A destination for the elements of a collection: entities as row cursors, and all other elements as values.
///
/// With a sink, a response can be read into typed structs or a database without an ``/ODataModel/Entity`` in
/// between.
public protocol CollectionSink {
    /// Receives an entity of the declared type without related entities and dynamic properties. Ids, ETags and
    /// annotations are among the row's members.
    ///
    /// - Parameter row: the row, valid during the call.
    mutating func row(_ row: borrowing JSONRow) throws
    /// Notifies the sink that the memory of the rows so far becomes invalid after the call.
    ///
    /// The method is called before the next other element and at the end of the available bytes, but not after an
    /// error of the sink.
    mutating func endOfRows() throws
    /// Receives all other elements: entities of derived types or with more than properties, removed entities, links
    /// and, last, the end of the collection.
    mutating func element(_ element: CollectionPayloadReader.Element) throws
}

extension CollectionSink {
    /// Does nothing, for sinks that do not refer to the memory of rows.
    public mutating func endOfRows() throws {}
}

extension CollectionPayloadReader {
    /// Passes all available elements to a sink.
    ///
    /// ```swift
    /// for try await chunk in body {
    ///     reader.append(chunk)
    ///     try reader.read(into: &sink)
    /// }
    /// reader.finish()
    /// try reader.read(into: &sink)
    /// ```
    /// - Throws: ``PayloadError`` with the position, and errors of the sink.
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

/// A pass over the elements of a collection as long as they are plain rows.
@usableFromInline
struct RowPass {
    /// The reasons for the end of a pass.
    @usableFromInline
    enum End: Sendable {
        /// The buffer ends within an element.
        case cut
        /// The next element is not a plain row, or the array ends.
        case other
        /// The text is unreadable.
        case failed(JSONError)
    }

    /// The scanner, positioned after the last returned row.
    private(set) var scanner: JSONScanner
    private(set) var end: End?
    private let isStrict: Bool

    init(_ scanner: JSONScanner, isStrict: Bool) {
        self.scanner = scanner
        self.isStrict = isStrict
    }

    /// Reads the next element into `row`; returns `false` at the end of the pass.
    @usableFromInline
    mutating func next(_ row: JSONRow) -> Bool {
        var ahead = scanner
        do throws(JSONError) {
            guard try ahead.nextElement(), try ahead.peekKind() == .object else { return stop(.other) }
            try row.read(&ahead)
        } catch {
            if error.needsMoreData { return stop(.cut) }
            // A forgiving reader then looks for readable values in the row.
            return stop(row.isForgiving ? .other : .failed(error))
        }
        guard row.members.isEmpty || row.members.allSatisfy({ isPlain($0, row) }) else { return stop(.other) }
        scanner = ahead
        return true
    }

    private mutating func stop(_ end: End) -> Bool {
        self.end = end
        return false
    }

    /// Returns whether a member besides the properties can be left to the sink.
    private func isPlain(_ member: JSONRow.Member, _ row: JSONRow) -> Bool {
        // Nearly every row has an ETag.
        if member.name == "@odata.etag" || member.name == "@etag" { return true }
        guard let control = ControlName(member.name) else {
            // An undeclared member of a closed type is ignored, unless the reader is strict.
            let name = member.name.string
            return !isStrict && !row.shape.isOpen && row.shape.navigationProperty(name) == nil && name != "error"
        }
        switch control.kind {
        case .type:
            guard control.property.isEmpty else { return isDeclared(typeOf: control.property, member, row) }
            return (try? row.text(of: "@odata.type", or: "@type")) == "#\(row.shape.name)"
        case .context, .removed, .delta, .bind, .count, .nextLink: return false
        default: return true
        }
    }

    /// Whether the type that a member states for a property is the declared one: a row reads its values by that.
    private func isDeclared(typeOf name: String, _ member: JSONRow.Member, _ row: JSONRow) -> Bool {
        guard let type = row.shape.property(name)?.type else { return false }
        switch type {
        case .complex, .untyped, .collection(.untyped):
            guard case .string(let stated)? = try? row.annotation(member.name.string) else { return false }
            return type.narrowed(by: row.model.typeReference(fragment: stated)) == type
        default: return true
        }
    }
}
