/// Reads metadata documents: CSDL in XML of OData 1 to 4.01 (OData CSDL XML 4.01), and CSDL in JSON (OData CSDL
/// JSON 4.01). Associations become navigation properties, and function imports become operations.
///
/// ```swift
/// let model = try CSDLReader.read(bytes)
/// let result = try CSDLReader.parse(bytes)
/// for warning in result.warnings { print(warning) }
/// ```
///
/// In a JSON document, the kinds of constants in annotations follow from the types of the terms, if the documents
/// or the standard vocabularies declare them. In annotations with other terms, a string remains a string constant.
///
/// An unreadable element is skipped with a warning; the rest of the document is still read. An identical repetition
/// of an element counts once. A name without a namespace refers to its own schema, or to the only match in all
/// schemas. ``CSDLReaderOptions/warnsOfDanglingReferences`` requests warnings about names and paths without a
/// target.
///
/// ``read(_:)`` and ``parse(_:options:)`` do not load the documents that a document refers to. Undeclared types
/// become ``TypeReference/untyped(_:)`` with their name, and a warning reports them. ``parse(_:options:loader:)``
/// loads the referenced documents.
public enum CSDLReader {
    /// The maximum size of a document with all referenced documents, in bytes.
    public static let maxBytes = 64 * 1024 * 1024
    /// The maximum nesting depth of elements.
    public static let maxDepth = 100
    /// The maximum number of elements in all documents of a model.
    public static let maxElements = 2_000_000
    /// The maximum number of documents that are read for one model.
    public static let maxDocuments = 100

    /// The content of a metadata document.
    public struct Result: Sendable {
        /// The model of the document's schemas.
        public var model: EntityDataModel
        /// The documents that the main document refers to.
        public var references: [CSDLReference]
        /// Warnings about skipped content.
        public var warnings: [CSDLWarning]
    }

    /// Reads a document in XML or JSON.
    ///
    /// - Throws: ``CSDLError`` with the line, the column and the expected content.
    public static func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel { try parse(bytes).model }

    /// Reads a document in XML.
    ///
    /// - Throws: ``CSDLError`` with the line, the column and the expected content.
    public static func read(xml bytes: [UInt8]) throws(CSDLError) -> EntityDataModel { try parse(xml: bytes).model }

    /// Reads a document in XML or JSON and returns the model with warnings about skipped content.
    ///
    /// - Throws: ``CSDLError`` with the line, the column and the expected content.
    public static func parse(
        _ bytes: [UInt8], options: CSDLReaderOptions = CSDLReaderOptions()
    ) throws(CSDLError) -> Result {
        var content = CSDLContent()
        try append(bytes, to: &content, source: nil)
        var builder = CSDLBuilder(document: document(content, options), options: options)
        return try builder.build(originalText: options.keepsOriginalText ? bytes : nil)
    }

    /// Reads a document in XML and returns the model with warnings about skipped content.
    ///
    /// - Throws: ``CSDLError`` with the line, the column and the expected content; ``CSDLError/Reason/json`` for
    ///   JSON.
    public static func parse(
        xml bytes: [UInt8], options: CSDLReaderOptions = CSDLReaderOptions()
    ) throws(CSDLError) -> Result {
        if case .json? = format(of: bytes) {
            throw CSDLError(reason: .json, line: 1, column: 1, expected: "CSDL in XML")
        }
        return try parse(bytes, options: options)
    }

    /// The two formats of CSDL.
    private enum Format {
        case xml
        case json
    }

    /// Returns the format that the first character implies; `nil` if there is none.
    private static func format(of bytes: [UInt8]) -> Format? {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let first = bytes[start...].first(where: { $0 > 0x20 }) else { return nil }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .json : .xml
    }

    /// Moves white space before the XML declaration behind the declaration. XML forbids such white space, but
    /// templates produce it. Moving the white space preserves the line numbers.
    private static func withDeclarationFirst(_ bytes: [UInt8]) -> [UInt8] {
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let start = bytes[mark...].firstIndex(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }),
            start > mark, bytes[start...].starts(with: Array("<?xml".utf8)),
            let end = bytes[start...].firstIndex(of: UInt8(ascii: ">"))
        else { return bytes }
        return Array(bytes[start...end]) + bytes[mark..<start] + bytes[(end + 1)...]
    }

    /// Returns the document without the elements that the options exclude.
    private static func document(_ content: CSDLContent, _ options: CSDLReaderOptions) -> CSDLDocument {
        guard options.excludesServerOnlyElements || !options.readsMixedVersions else { return CSDLDocument(content) }
        var content = content
        content.exclude(options)
        return CSDLDocument(content)
    }

    private static func append(
        _ bytes: [UInt8], to content: inout CSDLContent, source: String?
    ) throws(CSDLError) {
        guard bytes.count <= maxBytes else {
            throw CSDLError(reason: .tooLarge, line: 1, column: 1, expected: "a smaller document", source: source)
        }
        switch format(of: bytes) {
        case .xml?: try CSDLParser.parse(withDeclarationFirst(bytes), into: &content, source: source)
        case .json?: try CSDLJSONParser.parse(bytes, into: &content, source: source)
        case nil:
            throw CSDLError(
                reason: .empty, line: 1, column: 1, expected: "a metadata document", source: source)
        }
    }
}

extension CSDLReader {
    /// Reads a document and the documents that it refers to.
    ///
    /// Included schemas are read from the referenced documents (``EntityDataModel/includedSchemas``), together with
    /// the schemas that they include in turn. Included annotations are read as well. If a document cannot be
    /// loaded, its types remain unknown, and a warning reports them. With ``CSDLReaderOptions/Terms/resolved``, the
    /// reader also loads the OASIS and SAP vocabularies of the used terms from their published URLs.
    ///
    /// ```swift
    /// let result = try await CSDLReader.parse(bytes, loader: { reference in
    ///     try await service.get(reference.uri)
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - options: the options, including the references to follow.
    ///   - loader: a function that returns the document of a reference, or `nil` if there is none. The URI may be
    ///     relative
    ///     to the referring document. Errors of the function are rethrown.
    /// - Throws: ``CSDLError`` with the document, the line, the column and the expected content; errors of
    ///   `loader`.
    public static func parse(
        _ bytes: [UInt8], options: CSDLReaderOptions = CSDLReaderOptions(),
        loader: (CSDLReference) async throws -> [UInt8]?
    ) async throws -> Result {
        var documents = Documents(options: options)
        try append(bytes, to: &documents.content, source: nil)
        documents.total = bytes.count
        try await documents.follow(references(of: documents.content, root: 0, options), loader)
        let originalText = options.keepsOriginalText ? bytes : nil
        var builder = CSDLBuilder(document: document(documents.content, options), options: options)
        var result = try builder.build(uses: documents.uses, originalText: originalText)
        let vocabularies = builder.missingVocabularies
        if options.terms == .resolved, !vocabularies.isEmpty {
            try await documents.follow(vocabularies, loader)
            builder = CSDLBuilder(document: document(documents.content, options), options: options)
            result = try builder.build(uses: documents.uses, originalText: originalText)
        }
        for uri in documents.missing {
            result.warnings.append(
                CSDLWarning(
                    message: "The document \(uri) was not found: what it declares is unknown.", line: 1, column: 1))
        }
        return result
    }

    /// A document with the referenced documents loaded so far.
    private struct Documents {
        let options: CSDLReaderOptions
        var content = CSDLContent()
        /// The total size in bytes.
        var total = 0
        /// The reference for which each document was loaded, except the first document.
        var uses: [CSDLReference] = []
        /// The URIs that have no document.
        var missing: [String] = []

        /// Loads the documents of references, and the documents that these refer to, each once.
        mutating func follow(
            _ references: [CSDLReference], _ loader: (CSDLReference) async throws -> [UInt8]?
        ) async throws {
            var waiting = references
            while !waiting.isEmpty {
                let reference = waiting.removeFirst()
                if let known = uses.firstIndex(where: { $0.uri == reference.uri }) {
                    uses[known].includes += reference.includes.filter { !uses[known].includes.contains($0) }
                    uses[known].includedAnnotations += reference.includedAnnotations
                    continue
                }
                guard !missing.contains(reference.uri) else { continue }
                guard uses.count < maxDocuments, let bytes = try await loader(reference) else {
                    missing.append(reference.uri)
                    continue
                }
                total += bytes.count
                guard total <= maxBytes else {
                    throw CSDLError(
                        reason: .tooLarge, line: 1, column: 1, expected: "smaller documents", source: reference.uri)
                }
                try CSDLReader.append(bytes, to: &content, source: reference.uri)
                uses.append(reference)
                waiting += try CSDLReader.references(of: content, root: uses.count, options)
            }
        }
    }

    /// Returns the references of one document that the options select.
    private static func references(
        of content: CSDLContent, root: Int, _ options: CSDLReaderOptions
    ) throws(CSDLError) -> [CSDLReference] {
        guard options.references != .ignored else { return [] }
        var builder = CSDLBuilder(document: CSDLDocument(content), options: options)
        return try builder.readReferences(root: root).filter { options.references.contains($0.origin(options)) }
    }
}
