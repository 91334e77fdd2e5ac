// Lets the page do what it has put off until later.
new Promise((done) => setTimeout(done, 50))
