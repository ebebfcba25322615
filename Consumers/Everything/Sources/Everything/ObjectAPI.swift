import ObjectAPI

func usesObjectAPI() async throws {
    let profile = DatabaseProfile(protection: .unencrypted)
    print("a profile with \(profile.readers) readers; generated code is in Examples/Crm")
}
