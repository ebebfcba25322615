import ErrorCodes
import MobileClient
import Testing

@Suite("Errors of the mobile client")
struct MobileErrorTests {
    @Test(
        "An error has a code, and its message is English and German",
        arguments: [MobileError.wrongUser, .activationCodeInvalid, .locked(.passcode)])
    func messages(error: MobileError) {
        #expect(ErrorCode(error) != .unknown)
        let english = ErrorMessages.standard.message(for: error, locale: "en")
        let german = ErrorMessages.standard.message(for: error, locale: "de")
        #expect(english != german && !english.contains("{") && !german.contains("{"))
    }
}
