import ErrorCodes
import ODataModel
import ObjectAPI
import Testing

@Suite("Errors of business objects")
struct ObjectErrorTests {
    @Test(
        "have a code with a message in each language",
        arguments: [
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
        ])
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
}
