import Testing

@Suite("The basic operations of the package")
struct OneOfEachTests {
    /// Some text of the code and the only files or folders that may hold it.
    struct Owner: CustomTestStringConvertible {
        var text: String
        var folders: [String] = [""]
        var owners: [String]

        var testDescription: String { text }
    }

    static let owners = [
        // The property of GRDB that does not double quotes.
        Owner(text: "quotedDatabaseIdentifier", owners: []),
        Owner(
            text: "PRAGMA ", folders: ["ODataSQL/", "ODataStore/", "ODataDatabases/", "OfflineOData/"],
            owners: ["ODataSQL/Connection/Pragma.swift"]),
        // The metadata of the server's own services are whole documents.
        Owner(
            text: "\"Org.OData.",
            owners: [
                "ODataModel/Annotations/Vocabulary.swift", "OfflineOData/Upload/ServiceKnowledge.swift",
                "MobileProtocol/DeviceCSDL.swift", "MobileProtocol/Generated/MobileAPIMetadata.swift",
                "MobileServer/Operators/OperatorMetadata.swift",
            ]),
        Owner(text: "\"com.sap.vocabularies.", owners: ["ODataModel/Annotations/Vocabulary.swift"]),
        Owner(text: "INTO outpost_stream_chunk", owners: []),
        Owner(text: "FROM outpost_stream_chunk", owners: ["OfflineOData/Store/EngineSchema.swift"]),
        Owner(text: ": HTTPTransport>: HTTPTransport {", owners: ["ODataHTTP/Transport/MeteredTransport.swift"]),
        // The queue has an owner; the files behind it still have SQL of their own.
        Owner(
            text: "outpost_queue",
            owners: [
                "OfflineOData/Queue/", "OfflineOData/Upload/", "OfflineOData/Store/EngineSchema.swift",
                "OfflineOData/Archive/OfflineStore+EntityState.swift",
                "OfflineOData/Archive/StateFunctions.swift", "OfflineOData/Media/StreamTable.swift",
                "OfflineOData/Store/Containment.swift", "OfflineOData/Users/ValueMask.swift",
                "OfflineOData/Maintenance/StoreSalvage.swift",
            ]),
    ]

    @Test("each basic operation has one implementation", arguments: owners)
    func place(_ owner: Owner) throws {
        for (path, lines) in try SourceFiles.code() {
            guard owner.folders.contains(where: path.hasPrefix), !owner.owners.contains(where: path.hasPrefix) else {
                continue
            }
            for (number, line) in lines.enumerated() where line.contains(owner.text) {
                Issue.record("\(path):\(number + 1) holds \(owner.text)")
            }
        }
    }
}
