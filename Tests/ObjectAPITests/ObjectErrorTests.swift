import ErrorCodes
import ODataModel
import ObjectAPI
import Testing

@Suite("Errors of business objects")
struct ObjectErrorTests {
    private static let all: [ObjectError] = [
        ObjectError.objectNotFound(type: QualifiedName("Crm", "Customer"), object: "Customers(1)"),
        .attributeMissing(type: QualifiedName("Crm", "Customer"), attribute: "LastName"),
        .notSaved(type: QualifiedName("Crm", "Customer")), .alreadySubmitted(object: "Customers(1)"),
        .packageMismatch(place: "Customers", reason: "There is no such set."), .invalidPackage("It has no name."),
        .invalidQuery("It ends too early."), .noSuchEntity(name: "Ship"), .abstractEntity(name: "Tool"),
        .noSuchAttribute(name: "Color", of: "Parcel"), .noSuchOperation(name: "Fly", of: "Parcel"),
        .noSuchParameter(name: "Color", of: "Fly"), .missingArgument(name: "Color", of: "Fly"),
        .invalidType(name: "Color", expected: "Edm.String"), .streamNotOpen(attribute: "Label"),
        .streamNotClosed(attribute: "Label"), .appendOnly(attribute: "Label"),
        .overLength(attribute: "Label", announced: 3), .notAtCharacter(attribute: "Notes", position: 1),
        .synchronizationDisabled, .pendingChanges, .noLogService,
    ]

    @Test(
        "have a code with a message in each language",
        arguments: all)
    func codes(error: ObjectError) {
        #expect(error.errorCode.rawValue.hasPrefix("object."))
        for language in ["en", "de"] {
            #expect(ErrorMessages.standard.text(error.errorCode.rawValue, locale: language) != nil)
        }
    }

    @Test("of large attributes have the classes of the predecessor")
    func legacy() {
        let type = QualifiedName("Crm", "Customer")
        let errors: [ObjectError] = [
            .streamNotOpen(attribute: "Photo"), .streamNotClosed(attribute: "Photo"), .notSaved(type: type),
            .appendOnly(attribute: "Photo"), .overLength(attribute: "Photo", announced: 1),
        ]
        #expect(
            errors.map(\.legacyName) == [
                "SUPStreamNotOpenException", "SUPStreamNotClosedException", "SUPObjectNotSavedException",
                "SUPWriteAppendOnlyException", "SUPWriteOverLengthException",
            ])
        #expect(ObjectError.noSuchOperation(name: "Fly", of: "Crm").legacyName == "SUPNoSuchOperationException")
    }

    @Test("have numbers of their own, which stay")
    func numbers() {
        let numbers = Self.all.map(\.number)
        #expect(Set(numbers).count == numbers.count)
        #expect(ObjectError.objectNotFound(type: QualifiedName("Crm", "Customer"), object: "").number == 1001)
        #expect(ObjectError.noLogService.number == 2005)
        #expect(ObjectError.invalidType(name: "", expected: "").number == 3008)
        #expect(ObjectError.notAtCharacter(attribute: "", position: 0).number == 4005)
    }

    @Test("are told in the language and region, the language, the preferred languages of the app, or English")
    func locales() {
        let error = ObjectError.synchronizationDisabled
        let key = error.errorCode.rawValue
        var messages = ErrorMessages(preferredLocalizations: ["fr"])
        func text(_ texts: [String: String]) -> String {
            messages.adding(ErrorMessageTable(texts.mapValues { [key: $0] })).message(for: error, locale: "es_MX")
        }
        let all = ["es_MX": "mexicano", "es": "español", "fr": "français", "en": "English"]
        #expect(text(all) == "mexicano")
        #expect(text(all.filter { $0.key != "es_MX" }) == "español")
        #expect(text(all.filter { !$0.key.hasPrefix("es") }) == "français")
        #expect(text(["en": "English"]) == "English")
        messages.preferredLocalizations = []
        #expect(text(["fr": "français", "en": "English"]) == "English")
    }

    /// A provider that knows one error, in every language.
    private struct Provider: ErrorMessageProvider {
        func message(_ key: String, locale: String) -> String? {
            key == "object.pending-changes" ? "Send first (\(locale))." : nil
        }
    }

    @Test("get their texts from a provider of the app, which can be replaced")
    func provider() {
        let messages = ErrorMessages.standard.adding(Provider())
        #expect(messages.message(for: ObjectError.pendingChanges, locale: "pt_BR") == "Send first (pt_BR).")
        #expect(messages.message(for: ObjectError.noLogService, locale: "pt_BR") != "Send first (pt_BR).")
        #expect(
            !ErrorMessages.standard.message(for: ObjectError.pendingChanges, locale: "pt_BR").contains("Send first"))
    }
}
