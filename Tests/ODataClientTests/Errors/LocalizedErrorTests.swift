import DataVault
import Foundation
import ODataCache
import ODataClient
import ODataHTTP
import Secrets
import Testing

@testable import ErrorCodes

@Suite("Messages of errors in English and German")
struct LocalizedErrorTests {
    @Test("Every message and every advice exists in both languages")
    func complete() {
        #expect(Set(english.keys).symmetricDifference(german.keys).sorted() == [])
        #expect(english.count > 300)
    }

    @Test("A German message differs from the English one and is more than its reason")
    func translated() {
        for (key, text) in german {
            #expect(text != english[key] && text != "{reason}", "\(key)")
        }
    }

    @Test("A German message contains the values of its error")
    func values() {
        let expected: [(any CodedError, String)] = [
            (DataVaultError.locked(name: "keys"), "Der Tresor keys ist verschlossen."),
            (CacheError.unknownCollection("Orders"), "Das Modell hat keine Entitätsmenge Orders."),
            (
                SecretError.shortPassphrase(length: 3, minimum: 12),
                "Das Kennwort hat nur 3 Zeichen und ist zu leicht zu erraten. Nötig sind 12."
            ),
            (
                OAuth2Error.invalidMetadata(issuer: "https://a", reason: "r"),
                "Der Anmeldedienst https://a ist nicht verwendbar: r"
            ),
            (FileStreamError.unreadable(path: "/a"), "/a ist keine lesbare Datei."),
        ]
        for (error, text) in expected {
            #expect(ErrorMessages.standard.message(for: error, locale: "de") == text)
        }
    }

    @Test("The labels of an enumeration case are the arguments, and the label reason becomes detail")
    func arguments() {
        let error = OAuth2Error.invalidResponse(status: 400, reason: "no token")
        #expect(error.errorArguments["status"] == "400")
        #expect(error.errorArguments["detail"] == "no token")
        #expect(error.errorArguments["reason"] == error.description)
        #expect(DataVaultError.noHome.errorArguments.keys.sorted() == ["reason"])
    }

    @Test("localizedDescription is the message, and recoverySuggestion the advice")
    func localized() {
        let error: any Error = TransportError.timedOut(host: "example.com")
        let messages = ErrorMessages.current
        #expect(error.localizedDescription == messages.message(for: error))
        #expect(error.localizedDescription.contains("example.com"))
        #expect((error as? any LocalizedError)?.recoverySuggestion == messages.recoveryHint(for: error))
        #expect((error as? any LocalizedError)?.recoverySuggestion?.isEmpty == false)
    }

    @Test("An error without a code keeps its own description")
    func foreign() {
        struct Odd: Error {}
        #expect(ErrorMessages.standard.message(for: Odd(), locale: "en").contains("Odd"))
        #expect(FailureKind(Odd()) == .unknown)
        #expect(FailureKind(CancellationError()) == .cancelled)
    }
}
