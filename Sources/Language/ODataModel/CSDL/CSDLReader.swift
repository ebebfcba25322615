/// Reads metadata documents: CSDL in XML of OData 1 to 4.01, whose associations become navigation properties and
/// whose function imports become operations (OData CSDL XML 4.01), and CSDL in JSON (OData CSDL JSON 4.01).
///
/// ```swift
/// let model = try CSDLReader.read(bytes)
/// let result = try CSDLReader.parse(bytes)
/// for warning in result.warnings { print(warning) }
/// ```
///
/// Constants in the annotations of a document in JSON get the kinds that their terms' types say, as far as the documents
/// or the standard vocabularies declare these; of another term, a string stays a string constant.
///
/// An element that cannot be read costs that element and a warning, not the document, and what a document has twice in
/// the same way counts once. A name without a namespace is taken for that of its schema, or for the only one there is.
/// ``CSDLReaderOptions/warnsOfDanglingReferences`` asks for warnings of what leads to nothing.
///
/// A document that refers to others is read as it stands: types it does not declare become
/// ``TypeReference/untyped(_:)`` with their name, and a warning says so. With a loader, the documents referred to
/// are read too (``parse(_:options:loader:)``).
public enum CSDLReader {
    /// The size of the largest document read, in bytes, with all documents it refers to.
    public static let maxBytes = 64 * 1024 * 1024
    /// How deep elements may be nested.
    public static let maxDepth = 100
    /// How many elements the documents of a model may have together.
    public static let maxElements = 2_000_000
    /// How many documents are read for one model.
    public static let maxDocuments = 100

    /// What a document holds.
    public struct Result: Sendable {
        /// The model.
        public var model: EntityDataModel
        /// The documents that this one refers to.
        public var references: [CSDLReference]
        /// What was read around.
        public var warnings: [CSDLWarning]
    }

    /// Reads a document in XML or JSON.
    ///
    /// - Throws: ``CSDLError`` with line, column and what was expected.
    public static func read(_ bytes: [UInt8]) throws(CSDLError) -> EntityDataModel { try parse(bytes).model }

    /// Reads a document in XML.
    ///
    /// - Throws: ``CSDLError`` with line, column and what was expected.
    public static func read(xml bytes: [UInt8]) throws(CSDLError) -> EntityDataModel { try parse(xml: bytes).model }

    /// Reads a document in XML or JSON and tells what was read around.
    ///
    /// - Throws: ``CSDLError`` with line, column and what was expected.
    public static func parse(
        _ bytes: [UInt8], options: CSDLReaderOptions = CSDLReaderOptions()
    ) throws(CSDLError) -> Result {
        var content = CSDLContent()
        try append(bytes, to: &content, source: nil)
        var builder = CSDLBuilder(document: document(content, options), options: options)
        return try builder.build(originalText: options.keepsOriginalText ? bytes : nil)
    }

    /// Reads a document in XML and tells what was read around.
    ///
    /// - Throws: ``CSDLError`` with line, column and what was expected; ``CSDLError/Reason/json`` for JSON.
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

    /// What the first character says; `nil` where there is none.
    private static func format(of bytes: [UInt8]) -> Format? {
        let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let first = bytes[start...].first(where: { $0 > 0x20 }) else { return nil }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .json : .xml
    }

    /// XML allows nothing before its declaration, yet templates put line breaks there: they are moved behind it, so that
    /// lines keep their numbers.
    private static func withDeclarationFirst(_ bytes: [UInt8]) -> [UInt8] {
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        guard let start = bytes[mark...].firstIndex(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }),
            start > mark, bytes[start...].starts(with: Array("<?xml".utf8)),
            let end = bytes[start...].firstIndex(of: UInt8(ascii: ">"))
        else { return bytes }
        return Array(bytes[start...end]) + bytes[mark..<start] + bytes[(end + 1)...]
    }

    /// The elements without those that the options leave out.
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
    /// Reads a document and those it refers to.
    ///
    /// The schemas that it includes are read from there (``EntityDataModel/includedSchemas``), with what they
    /// include in turn, and so are the annotations that it includes. A document that cannot be loaded leaves its
    /// types unknown, and a warning says so. With ``CSDLReaderOptions/Terms/resolved``, the vocabularies of OASIS and SAP
    /// whose terms are used are asked for too, at the addresses where these publish them.
    ///
    /// ```swift
    /// let result = try await CSDLReader.parse(bytes, loader: { reference in
    ///     try await service.get(reference.uri)
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - bytes: the document.
    ///   - options: which references are followed, and the rest.
    ///   - loader: gives the document behind a reference, whose URI may be relative to the document that has it;
    ///     `nil` where there is none. Errors it throws are thrown on.
    /// - Throws: ``CSDLError`` with the document, line, column and what was expected; what `loader` throws.
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

    /// A document with those it refers to, as they come in.
    private struct Documents {
        let options: CSDLReaderOptions
        var content = CSDLContent()
        /// How many bytes there are.
        var total = 0
        /// For each document but the first, what it is referred to for.
        var uses: [CSDLReference] = []
        /// The addresses that no document was found behind.
        var missing: [String] = []

        /// Loads what references lead to, and what that refers to in turn, each once.
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

    /// The references of one document that the options want followed.
    private static func references(
        of content: CSDLContent, root: Int, _ options: CSDLReaderOptions
    ) throws(CSDLError) -> [CSDLReference] {
        guard options.references != .ignored else { return [] }
        var builder = CSDLBuilder(document: CSDLDocument(content), options: options)
        return try builder.readReferences(root: root).filter { options.references.contains($0.origin(options)) }
    }
}
