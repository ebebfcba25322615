import ODataClient

print(Authentication.basic(user: "me", password: "never printed"))
