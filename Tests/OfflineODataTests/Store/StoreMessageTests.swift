import ODataClient
import Foundation
import ODataSQL
import Testing

@testable import OfflineOData

@Suite("Messages about a store")
struct StoreMessageTests {
    @Test("contain the values of the error in German")
    func german() {
        let expected: [(any CodedError, String)] = [
            (OfflineError.queryExists(name: "open"), "Eine definierende Abfrage open ist schon vorhanden."),
            (OfflineError.noStore(path: "/a"), "/a enthält keinen Bestand."),
            (
                OfflineError.fileAccess(path: "/a", reason: "Permission denied"),
                "Auf /a kann nicht zugegriffen werden: Permission denied"
            ),
            (
                OfflineError.alreadySent(request: 7),
                "Die Anfrage 7 wurde gesendet und kann nicht zurückgenommen werden."
            ),
            (
                UserSwitchError.changesWait(previousUser: "ann", count: 2),
                "2 Änderungen von ann sind noch nicht gesendet."
            ),
            (StoreError.wrongKey(path: "/a"), "Der Schlüssel öffnet /a nicht."),
            (
                StoreError.newerVersion(path: "/a", found: 9, supported: 8),
                "/a hat die Version 9. Diese Bibliothek kennt Versionen bis 8."
            ),
        ]
        for (error, text) in expected {
            #expect(ErrorMessages.standard.message(for: error, locale: "de_AT") == text)
        }
    }

    @Test("are the localizedDescription, with an advice")
    func localized() {
        let error: any Error = OfflineError.notConnected
        #expect(error.localizedDescription == ErrorMessages.current.message(for: error))
        #expect((error as? any LocalizedError)?.recoverySuggestion?.isEmpty == false)
    }
}
