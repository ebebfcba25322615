import ErrorCodes
import Secrets

func usesErrorCodes() async throws {
    /// An app's own error, told of like those of the package.
    struct FarmClosed: CodedError {
        var errorCode: ErrorCode { ErrorCode(rawValue: "farm.closed") }
        var failureKind: FailureKind { .transient }
    }

    let errors: [any Error] = [FarmClosed(), SecretError.wrongKey, CancellationError()]
    precondition(errors.map { ErrorCode($0).rawValue } == ["farm.closed", "secret.wrong-key", "cancelled"])
    precondition(FarmClosed().failureKind.recovery == .retryLater)
    print("ok")
}
