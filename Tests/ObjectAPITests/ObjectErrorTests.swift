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
            .invalidQuery("It ends too early."),
        ])
    func codes(error: ObjectError) {
        #expect(error.errorCode.rawValue.hasPrefix("object."))
        for language in ["en", "de"] {
            #expect(ErrorMessages.standard.text(error.errorCode.rawValue, locale: language) != nil)
        }
    }
}
