import Secrets

func usesSecrets() async throws {
    print(Secret("never printed"))
}
