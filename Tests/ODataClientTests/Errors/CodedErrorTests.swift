import DataVault
import EncryptedSQLite
import ErrorCodes
import Foundation
import ODataCache
import ODataClient
import ODataDatabases
import ODataFormat
import ODataGenerator
import ODataHTTP
import ODataModel
import ODataQuery
import ODataSQL
import ODataServer
import ODataService
import ODataTransportNIO
import OfflineOData
import Secrets
import SecureStorage
import ServerMetrics
import Supportability
import Testing

/// Every public error of the package has a code, and every code has a message. The errors are searched in the
/// sources, so that a new error without them fails here.
@Suite struct CodedErrorTests {
    private static let types: [any Error.Type] = [
        AccessRightsError.self, BatchError.self, CSDLError.self, CacheError.self, CapabilityError.self,
        ChunkSizeError.self,
        ClientIdentityError.self, ConflictError.self, DataServiceError.self, DataVaultError.self, DownloadError.self,
        EncryptedDatabaseError.self, EntityError.self, EvaluationError.self, FileStreamError.self,
        ForeignDatabaseError.self, FunctionImportCall.CallError.self, GeneratorError.self, GeoError.self,
        InvalidResponseError.self, InvalidValueError.self, JSONError.self, LexicalError.self, MetadataError.self,
        ModelError.self, NoServiceDocument.self, OAuth2Error.self, ODataError.self, ODataErrorPayload.self,
        OTLPError.self, OfflineError.self, PasswordHashError.self, PayloadError.self, PersistenceError.self,
        QueryError.self,
        SearchError.self,
        SecretError.self, SecureStorageError.self, SelectionError.self, ServerStartError.self, ServiceUnavailable.self,
        StoreError.self,
        StoredLogError.self, StoredValueError.self, TransferQueueError.self, TransportConfigurationError.self,
        TransportError.self, UserSwitchError.self, XMLPayloadError.self, XMLTreeError.self,
    ]

    /// These are meant for developers of transports and of drivers of the server's state, not for users of an app.
    private static let exceptions: Set = ["ConformanceFailure", "ServerStateViolation"]

    /// The errors of the Object API have a code, as its own tests show.
    private static let objects: Set = ["ObjectError"]

    /// The errors of the mobile server have a code, as `ServerErrorTests` shows.
    private static let server: Set = [
        "CertificateRequestError", "ConfigurationError", "DestinationCredentialsError", "DeviceProofError",
        "FeedCommandError", "SecretResolverError", "ServerFolderError", "ServerKeyError", "ServerStateError",
    ]

    /// The errors of the client for PostgreSQL have a code, as its own tests show.
    private static let databases: Set = ["PostgresError"]

    /// The errors of the mobile client have a code, as its own tests show.
    private static let devices: Set = ["MobileError"]

    private static func sources() throws -> [String] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        var texts: [String] = []
        while let file = files?.nextObject() as? URL {
            guard file.pathExtension == "swift" else { continue }
            // Errors in the examples of comments do not belong to the package.
            let lines = try String(contentsOf: file, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            texts.append(lines.filter { !$0.drop { $0 == " " }.hasPrefix("///") }.joined(separator: "\n"))
        }
        return texts
    }

    @Test func `every public error type of the sources has a code`() throws {
        var found: Set<String> = []
        for text in try Self.sources() {
            for match in text.matches(of: /public (?:indirect )?(?:enum|struct|final class) (\w+):[^{\n]*\bError\b/) {
                found.insert(String(match.1))
            }
        }
        let known = Set(Self.types.map { String(describing: $0) }).union(Self.objects).union(Self.server)
            .union(Self.databases).union(Self.devices)
        #expect(found.subtracting(known) == Self.exceptions, "without a code, or not listed in this test")
        #expect(known.subtracting(found).isEmpty)
        for type in Self.types { #expect(type is any CodedError.Type, "\(type) has no code") }
    }

    @Test func `every code of the sources has a message`() throws {
        var codes: Set<String> = []
        for text in try Self.sources() {
            for block in text.matches(of: /(?s)extension [\w.]+: CodedError \{\n(.*?)\n\}/) {
                for match in block.1.matches(of: /ErrorCode\(rawValue: "([a-z-]+)\.([a-z0-9-]+)"\)/) {
                    codes.insert("\(match.1).\(match.2)")
                }
                guard let level = block.1.firstMatch(of: /ErrorCode\(rawValue: "([a-z-]+)\.\\\(name\)"\)/) else {
                    continue
                }
                for match in block.1.matches(of: /: "([a-z0-9-]+)"\n/) { codes.insert("\(level.1).\(match.1)") }
            }
        }
        codes.subtract(["database.secret", "storage.vault"])  // These errors have the code of the wrapped error.
        codes = codes.filter { !$0.hasPrefix("postgres.") }  // The client for PostgreSQL has a table of its own.
        #expect(codes.count > 200)
        for code in codes.sorted() {
            #expect(ErrorMessages.standard.text(code, locale: "en") != nil, "\(code) has no message")
        }
    }

    @Test func `the kind of each error determines the advice`() {
        func hint(_ error: any Error) -> String { ErrorDiagnosis(error).recoveryHint(locale: "en") }
        #expect(hint(OAuth2Error.refused(code: "invalid_grant", description: "expired")) == "Sign in again.")
        #expect(ErrorDiagnosis(OAuth2Error.refused(code: "invalid_grant", description: nil)).recovery == .signIn)
        #expect(ErrorDiagnosis(OAuth2Error.invalidResponse(status: 503, reason: "")).kind == .transient)
        #expect(ErrorDiagnosis(StoreError.diskFull).recovery == .checkDevice)
        #expect(ErrorDiagnosis(StoreError.corrupt(message: "page 3")).recovery == .repair)
        #expect(ErrorDiagnosis(OfflineError.busy(processID: 7)).code.rawValue == "offline.busy")
        #expect(hint(OfflineError.invalidDefiningQuery(name: "mine", reason: "")).contains("parameter"))
        #expect(ErrorDiagnosis(DownloadError.refused(status: 404)).kind == .missing)
        let within = SecretError.wrongKey
        #expect(ErrorDiagnosis(EncryptedDatabaseError.secret(within)).code == within.errorCode)
        #expect(ErrorDiagnosis(TransferQueueError.limit(0)).message(locale: "en").contains("0 requests"))
        #expect(ErrorDiagnosis(OAuth2Error.noCode).message(locale: "de") == "Die Anmeldung wurde nicht beendet.")
    }
}
