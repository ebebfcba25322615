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
        var reader = CSDLDocumentReader(limit: maxBytes)
        try reader.append(bytes)
        var builder = CSDLBuilder(document: try document(try reader.finish(), options), options: options)
        return try builder.build(originalText: options.keepsOriginalText ? bytes : nil)
    }

    /// Reads a document in XML and returns the model with warnings about skipped content.
    ///
    /// - Throws: ``CSDLError`` with the line, the column and the expected content; ``CSDLError/Reason/json`` for
    ///   JSON.
    public static func parse(
        xml bytes: [UInt8], options: CSDLReaderOptions = CSDLReaderOptions()
    ) throws(CSDLError) -> Result {
        if CSDLDocumentReader.isJSON(bytes) {
            throw CSDLError(reason: .json, line: 1, column: 1, expected: "CSDL in XML")
        }
        return try parse(bytes, options: options)
    }

    /// Returns the document with the documents of annotations, without the elements that the options exclude.
    private static func document(
        _ content: CSDLContent, _ options: CSDLReaderOptions
    ) throws(CSDLError) -> CSDLDocument {
        var content = content
        for annotations in options.annotationDocuments {
            var reader = CSDLDocumentReader(limit: maxBytes, behind: content.take(), source: annotations.source)
            try reader.append(annotations.bytes)
            content = try reader.finish()
        }
        guard options.excludesServerOnlyElements || !options.readsMixedVersions else { return CSDLDocument(content) }
        content.exclude(options)
        return CSDLDocument(content)
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
        var reader = CSDLDocumentReader(limit: maxBytes)
        try reader.append(bytes)
        var documents = Documents(options: options, limit: maxBytes)
        documents.begin(try reader.finish(), bytes: bytes.count)
        return try await documents.result(originalText: options.keepsOriginalText ? bytes : nil, loader)
    }

    /// Reads a document from chunks of bytes as they arrive, and the documents that it refers to.
    ///
    /// Chunks are read as in ``parse(chunks:maxBytes:options:)``, and references are followed as in
    /// ``parse(_:options:loader:)``.
    ///
    /// - Parameters:
    ///   - chunks: the chunks, such as the body of a response or the content of a file.
    ///   - maxBytes: the maximum size of the document with all referenced documents, in bytes. Values above
    ///     ``maxBytes`` have no effect.
    ///   - options: the options, including the references to follow. With ``CSDLReaderOptions/keepsOriginalText``,
    ///     the reader holds all bytes of the document.
    ///   - loader: a function that returns the document of a reference, or `nil` if there is none. The URI may be
    ///     relative to the referring document.
    /// - Throws: ``CSDLError`` with the document, the line, the column and the expected content;
    ///   ``CSDLError/Reason/tooLarge(limit:)`` if the documents are larger than `maxBytes`; `CancellationError`;
    ///   errors of `chunks` and `loader`.
    public static func parse<Chunks: AsyncSequence>(
        chunks: Chunks, maxBytes: Int = CSDLReader.maxBytes, options: CSDLReaderOptions = CSDLReaderOptions(),
        loader: (CSDLReference) async throws -> [UInt8]?
    ) async throws -> Result where Chunks.Element: Collection<UInt8> {
        let limit = min(maxBytes, Self.maxBytes)
        let first = try await content(of: chunks, limit: limit, keepsText: options.keepsOriginalText)
        var documents = Documents(options: options, limit: limit)
        documents.begin(first.content, bytes: first.bytes)
        return try await documents.result(originalText: first.text, loader)
    }

    /// Reads a document from chunks of bytes as they arrive, and returns the model with warnings about skipped
    /// content.
    ///
    /// The reader parses XML chunk by chunk and never holds the whole document. It holds JSON until the document is
    /// complete. A chunk may end at any byte. After an error, the reader requests no further chunk.
    ///
    /// ```swift
    /// let result = try await CSDLReader.parse(chunks: body, maxBytes: 4 << 20)
    /// ```
    ///
    /// - Parameters:
    ///   - chunks: the chunks, such as the body of a response or the content of a file.
    ///   - maxBytes: the maximum size of the document, in bytes. Values above ``maxBytes`` have no effect.
    ///   - options: the options. With ``CSDLReaderOptions/keepsOriginalText``, the reader holds all bytes of the
    ///     document.
    /// - Throws: ``CSDLError`` with the line, the column and the expected content;
    ///   ``CSDLError/Reason/tooLarge(limit:)`` if the document is larger than `maxBytes`; `CancellationError`; errors
    ///   of `chunks`.
    public static func parse<Chunks: AsyncSequence>(
        chunks: Chunks, maxBytes: Int = CSDLReader.maxBytes, options: CSDLReaderOptions = CSDLReaderOptions()
    ) async throws -> Result where Chunks.Element: Collection<UInt8> {
        let limit = min(maxBytes, Self.maxBytes)
        let first = try await content(of: chunks, limit: limit, keepsText: options.keepsOriginalText)
        var builder = CSDLBuilder(document: try document(first.content, options), options: options)
        return try builder.build(originalText: first.text)
    }

    /// Reads one document, and returns its text if `keepsText` is `true`.
    private static func content<Chunks: AsyncSequence>(
        of chunks: Chunks, limit: Int, keepsText: Bool
    ) async throws -> (content: CSDLContent, bytes: Int, text: [UInt8]?) where Chunks.Element: Collection<UInt8> {
        var reader = CSDLDocumentReader(limit: limit)
        var text: [UInt8]? = keepsText ? [] : nil
        try await chunks.forEachChunk { chunk in
            let bytes = Array(chunk)
            try reader.append(bytes)
            text?.append(contentsOf: bytes)
        }
        let bytes = reader.byteCount
        return (try reader.finish(), bytes, text)
    }

    /// Reads a document in XML or JSON from chunks of bytes as they arrive.
    ///
    /// Chunks are read as in ``parse(chunks:maxBytes:options:)``.
    ///
    /// - Parameters:
    ///   - chunks: the chunks, such as the body of a response or the content of a file.
    ///   - maxBytes: the maximum size of the document, in bytes. Values above ``maxBytes`` have no effect.
    /// - Throws: ``CSDLError`` with the line, the column and the expected content;
    ///   ``CSDLError/Reason/tooLarge(limit:)`` if the document is larger than `maxBytes`; `CancellationError`; errors
    ///   of `chunks`.
    public static func read<Chunks: AsyncSequence>(
        chunks: Chunks, maxBytes: Int = CSDLReader.maxBytes
    ) async throws -> EntityDataModel where Chunks.Element: Collection<UInt8> {
        try await parse(chunks: chunks, maxBytes: maxBytes).model
    }

    /// A document with the referenced documents loaded so far.
    private struct Documents {
        let options: CSDLReaderOptions
        /// The maximum size of all documents together, in bytes.
        let limit: Int
        var content = CSDLContent()
        /// The total size in bytes.
        var total = 0
        /// The reference for which each document was loaded, except the first document.
        var uses: [CSDLReference] = []
        /// The URIs that have no document.
        var missing: [String] = []

        init(options: CSDLReaderOptions, limit: Int) {
            self.options = options
            self.limit = limit
        }

        /// Sets the first document.
        mutating func begin(_ content: consuming CSDLContent, bytes: Int) {
            self.content = content
            total = bytes
        }

        /// Builds the model from the first document and the documents that it refers to.
        mutating func result(
            originalText: [UInt8]?, _ loader: (CSDLReference) async throws -> [UInt8]?
        ) async throws -> Result {
            try await follow(CSDLReader.references(of: content, root: 0, options), loader)
            var builder = CSDLBuilder(document: try CSDLReader.document(content, options), options: options)
            var result = try builder.build(uses: uses, originalText: originalText)
            let vocabularies = builder.missingVocabularies
            if options.terms == .resolved, !vocabularies.isEmpty {
                try await follow(vocabularies, loader)
                builder = CSDLBuilder(document: try CSDLReader.document(content, options), options: options)
                result = try builder.build(uses: uses, originalText: originalText)
            }
            for uri in missing {
                result.warnings.append(
                    CSDLWarning(
                        message: "The document \(uri) was not found: what it declares is unknown.", line: 1, column: 1))
            }
            return result
        }

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
                guard total <= limit else {
                    throw CSDLError(
                        reason: .tooLarge(limit: limit), line: 1, column: 1, expected: "smaller documents",
                        source: reference.uri)
                }
                var reader = CSDLDocumentReader(limit: limit, behind: content.take(), source: reference.uri)
                try reader.append(bytes)
                content = try reader.finish()
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
        return try builder.readReferences(root: root).filter { reference in
            !reference.isEmbedded && options.references.contains(reference.origin(options))
        }
    }
}
