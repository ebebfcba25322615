// Each library product used in a few lines, the way an app would; a line is printed for each.
let uses: [(product: String, run: () async throws -> Void)] = [
    ("DataVault", usesDataVault),
    ("EncryptedSQLite", usesEncryptedSQLite),
    ("ErrorCodes", usesErrorCodes),
    ("MobileClient", usesMobileClient),
    ("ODataCache", usesODataCache),
    ("ODataClient", usesODataClient),
    ("ODataDatabases", usesODataDatabases),
    ("ODataFormat", usesODataFormat),
    ("ODataGenerator", usesODataGenerator),
    ("ODataHTTP", usesODataHTTP),
    ("ODataModel", usesODataModel),
    ("ODataQuery", usesODataQuery),
    ("ODataServer", usesODataServer),
    ("ODataService", usesODataService),
    ("ODataSQL", usesODataSQL),
    ("ODataStore", usesODataStore),
    ("ODataTransportConformance", usesODataTransportConformance),
    ("ODataTransportNIO", usesODataTransportNIO),
    ("ODataTransportURLSession", usesODataTransportURLSession),
    ("ObjectAPI", usesObjectAPI),
    ("OutpostKit", usesOutpostKit),
    ("Secrets", usesSecrets),
    ("SecureStorage", usesSecureStorage),
    ("ServerMetrics", usesServerMetrics),
    ("Supportability", usesSupportability),
]
for use in uses {
    print("\(use.product): ", terminator: "")
    try await use.run()
}
