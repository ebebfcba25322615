import Foundation
import Testing

@Suite("The page about the older Object API")
struct MigrationPageTests {
    /// The older names that the page has to tell about.
    private static let names = [
        "<Pkg>DB", "createDatabase", "openConnection", "closeConnection", "databaseExists", "deleteDatabase",
        "getConnectionProfile", "getSynchronizationProfile", "setAsyncReplay:", "generateEncryptionKey",
        "changeEncryptionKey:", "find:", "findByPrimaryKey:", "load:", "findAll", "findX:skip:take:", "findWithQuery:",
        "create", "update", "delete", "save", "refresh", "submitPending", "submitPendingOperations",
        "submitPendingOperations:", "cancelPending", "cancelPendingOperations", "<MBO><Name>Operation", "isNew",
        "replayFailure", "surrogateKey", "keyToString", "<MBO>Subscription", "addSubscription:", "getSubscriptions",
        "removeSubscription:", "getPersonalizationParameters", "subscribe", "unsubscribe", "suspendSubscription",
        "resumeSubscription", "recover", "synchronize", "synchronize:", "beginSynchronize:withContext:", "disableSync",
        "enableSIS", "setInterval:", "SUPCallbackHandler", "onSynchronize:", "enableChangeLog", "getChangeLogs:",
        "deleteChangeLogs", "getLogRecords:", "newLogRecord", "submitLogRecords", "getLogger", "SUPQuery",
        "SUPAttributeTest", "SUPCompositeTest", "SUPColumn", "SUPQueryResultSet", "SUPBigBinary", "SUPBigString",
        "metaData", "SUPExceptionMessageService", "SUPServiceRegistry",
    ]

    @Test("has a row for each older name", arguments: names)
    func rows(name: String) throws {
        let root = ObjectGoldenTests.folder.deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(
            contentsOf: root.appendingPathComponent("Sources/Objects/ObjectAPI/Documentation.docc/MigratingObjects.md"),
            encoding: .utf8)
        let first = page.split(separator: "\n").filter { $0.hasPrefix("|") }.compactMap {
            $0.split(separator: "|").first
        }
        #expect(first.contains { $0.contains("`\(name)`") })
    }
}
