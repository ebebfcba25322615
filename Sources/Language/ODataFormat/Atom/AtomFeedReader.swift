import ODataModel

/// Reads an Atom feed or delta in chunks as they arrive (OData Atom Format 4.0, 6 and 13; RFC 6721 for tombstones).
///
/// Memory use does not grow with the number of entries. The elements are the same as those of
/// ``CollectionPayloadReader`` for the collection in JSON. A document with a single entry is read as a feed of one
/// entry.
///
/// ```swift
/// var reader = AtomFeedReader(model: model, type: orderType)
/// for try await chunk in body {
///     try reader.append(chunk)
///     while let element = try reader.next() { … }
/// }
/// try reader.finish()
/// while let element = try reader.next() { … }
/// ```
public struct AtomFeedReader: ~Copyable, Sendable {
    private var parser = XMLFragmentParser(
        maxDepth: XMLPayloadLimits.maxDepth, maxElementBytes: XMLPayloadLimits.maxElementBytes)
    private let reader: AtomEntryReader
    private let type: QualifiedName
    private var base: String?
    private var summary = CollectionSummary()
    /// The root if it is a single entry, whose parts arrive one by one.
    private var entry: XMLFragment?
    /// The root if it is an error.
    private var error: XMLFragment?
    private var entries = 0

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - model: the model of the service.
    ///   - type: the declared type of the entries.
    ///   - strictness: the treatment of undeclared properties.
    public init(model: EntityDataModel, type: QualifiedName, strictness: Strictness = .lenient) {
        reader = AtomEntryReader(model: model, strictness: strictness)
        self.type = type
    }

    /// Parses the next chunk.
    ///
    /// - Throws: ``PayloadError/malformedXML(_:)``.
    public mutating func append(_ bytes: some Sequence<UInt8>) throws(PayloadError) {
        do throws(XMLFragmentError) {
            try parser.append(bytes)
        } catch {
            throw .malformedXML(XMLPayloadError(error))
        }
    }

    /// Marks the end of the document.
    ///
    /// - Throws: ``PayloadError/malformedXML(_:)`` if the document is incomplete.
    public mutating func finish() throws(PayloadError) {
        do throws(XMLFragmentError) {
            try parser.finish()
        } catch {
            throw .malformedXML(XMLPayloadError(error))
        }
    }

    /// Returns the next element.
    ///
    /// - Returns: `nil` if more bytes are needed, and after the end.
    /// - Throws: ``PayloadError`` with the position and the property path, or with the service's error.
    public mutating func next() throws(PayloadError) -> CollectionPayloadReader.Element? {
        while let event = parser.next() {
            switch event {
            case .root(let root): try begin(root)
            case .child(let child):
                if error != nil {
                    error?.content.append(.element(child))
                } else if entry != nil {
                    entry?.content.append(.element(child))
                } else if let element = try read(child) {
                    return element
                }
            case .end:
                if let error { throw .service(ODataErrorPayload(error)) }
                guard let entry else { return .finished(summary) }
                self.entry = nil
                let entity = try readEntry(entry)
                pendingEnd = true
                return .entity(entity)
            }
        }
        if pendingEnd {
            pendingEnd = false
            return .finished(summary)
        }
        return nil
    }

    /// Whether a single entry was returned but the end was not.
    private var pendingEnd = false

    private mutating func begin(_ root: XMLFragment) throws(PayloadError) {
        base = root.attribute("base", AtomNames.xml)
        summary.context = root.metadata("context")
        if root.isMetadata("error") {
            error = root
        } else if root.isAtom("entry") {
            entry = root
        } else if !root.isAtom("feed") {
            throw .malformedXML(root.error(.unexpected("the element \(root.name)"), expected: "an Atom feed"))
        }
    }

    private mutating func readEntry(_ entry: XMLFragment) throws(PayloadError) -> ODataEntity {
        var declared = type
        // Entries of another set have their own context in a delta.
        if let context = entry.metadata("context") {
            declared = reader.model.entityType(context: context) ?? type
        }
        defer { entries += 1 }
        do throws(XMLPayloadError) {
            return try reader.readEntry(entry, declared, base: base)
        } catch {
            guard reader.strictness == .forgiving else { throw .malformedXML(error.within(String(entries))) }
            return unreadable(entry, error)
        }
    }

    /// Returns an entity without values in place of an entry that cannot be read. Its key is unreadable.
    private func unreadable(_ entry: XMLFragment, _ error: XMLPayloadError) -> ODataEntity {
        let shape = reader.model.shape(type) ?? .untyped
        var entity = ODataEntity(shape: shape)
        let id = entry.elements.first { $0.isAtom("id") }?.trimmedText ?? ""
        entity.control.unreadable[shape.key.first?.path ?? ""] = UnreadableValue(
            text: id, reason: "expected \(error.expected)")
        return entity
    }

    private mutating func read(_ element: XMLFragment) throws(PayloadError) -> CollectionPayloadReader.Element? {
        if element.isAtom("entry") { return .entity(try readEntry(element)) }
        if element.isAtom("link") {
            let (kind, _) = AtomNames.relation(element.attribute("rel") ?? "")
            let url = element.attribute("href").map { LinkBase.resolve($0, base) }
            if kind == "next" { summary.nextLink = url }
            if kind == "delta" { summary.deltaLink = url }
            return nil
        }
        if element.namespace == AtomNames.tombstones, element.name == "deleted-entry" {
            let id = element.attribute("ref").map { LinkBase.resolve($0, base) }
            return .removed(id: id, entity: nil, reason: element.metadata("reason") ?? "deleted")
        }
        guard AtomNames.isMetadata(element.namespace) else { return nil }
        switch element.name {
        case "count":
            guard let count = Int64(element.trimmedText) else {
                throw .malformedXML(
                    element.error(.invalidValue(String(element.text.prefix(80))), expected: "a whole number"))
            }
            summary.count = count
        case "link": return .link(try readLink(element))
        case "deleted-link": return .deletedLink(try readLink(element))
        // A service reports an error within the feed if it aborts the response.
        case "error": throw .service(ODataErrorPayload(element))
        default: break
        }
        return nil
    }

    private func readLink(_ element: XMLFragment) throws(PayloadError) -> DeltaLink {
        guard let source = element.attribute("source"), let relationship = element.attribute("relationship") else {
            throw .malformedXML(
                element.error(.missingAttribute("source"), expected: "the attributes source and relationship"))
        }
        return DeltaLink(
            source: LinkBase.resolve(source, base), relationship: relationship,
            target: element.attribute("target").map { LinkBase.resolve($0, base) })
    }
}
